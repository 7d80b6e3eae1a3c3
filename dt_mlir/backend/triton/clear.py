"""The kernel that clears what kernels add to, as text of the emitted module.

It is a launch like others, which is made again where launches are replayed; a tensor that PyTorch
clears would be cleared in the first call alone.
"""

CLEAR = "_clear"
"""The kernel's name."""
BLOCK = 1024
"""The elements that a program instance clears."""
TEXT = '''
@triton.jit
def _clear(pointer, SIZE, BLOCK: tl.constexpr):
    """Clear what programs add to."""
    place = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(pointer + place, 0, mask=place < SIZE)
'''
