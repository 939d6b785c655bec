"""Patches as kube-apiserver applies them: JSON patch, merge patch, strategic merge patch."""
