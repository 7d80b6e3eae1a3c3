nonsense  # noqa: B018, F821  # pyright: ignore
