"""What staff get by mail: links that sign in, and links that prove an address. And how many letters one may ask for."""
