"""SQL made into operators: `expanded` writes views out, `lower` is the contents page of what is understood."""
