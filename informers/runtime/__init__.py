"""Controllers, and what runs them."""
