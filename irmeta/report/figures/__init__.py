"""Figures of one subject, made of the general charts."""
