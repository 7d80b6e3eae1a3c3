"""The costs of kernels on devices, predicted from their loops."""
