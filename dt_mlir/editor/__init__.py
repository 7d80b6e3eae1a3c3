"""The language server: what editors ask about programs and modules, answered by the compiler."""
