"""Who contributed what, at the global level and in each scope."""
