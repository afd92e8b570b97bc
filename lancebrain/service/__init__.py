"""What servers of an index share, whatever they speak: between the facade and the fronts."""
