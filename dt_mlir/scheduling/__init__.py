"""The framework of scheduling directives: their declaration, parameters and spaces."""
