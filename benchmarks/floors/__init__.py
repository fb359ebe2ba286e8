"""Peers that do the least there is to do, in processes of their own: what ours is measured against."""
