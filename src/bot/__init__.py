"""The bot: everything of the product that is not a Durable Object."""
