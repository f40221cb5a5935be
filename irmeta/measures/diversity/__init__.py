"""Measures of diversity and novelty, which read judgments by subtopic."""
