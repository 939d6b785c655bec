"""What a real kcp of three shards went through, played again on ours: every difference is listed, with its reason."""
