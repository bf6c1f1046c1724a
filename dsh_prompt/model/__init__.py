"""The values that are contributed and assembled: they know nothing of hosts and layers."""
