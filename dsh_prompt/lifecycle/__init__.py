"""Every contribution has an owner, which can take all of it back."""
