"""What a team would use instead, behind one protocol; a library is imported when its peers are asked for."""
