"""The pages of the app, one file each."""
