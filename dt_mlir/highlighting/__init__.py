"""Colours for programs outside of the compiler: a lexer of Pygments, a grammar of TextMate."""
