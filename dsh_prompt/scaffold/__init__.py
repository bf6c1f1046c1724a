"""The packages of new plugins: their names, their files, and how these are written."""
