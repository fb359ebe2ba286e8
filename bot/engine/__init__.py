"""What carries work: wake-ups, sweeping and timers. The request row is the truth; this only moves it on."""
