"""What a kernel costs on a device, predicted from its loops."""
