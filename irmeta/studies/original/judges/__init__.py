"""Study `judges`: which conclusions survive judgments by others than the reference."""
