"""What the window does with a document: open, analyse, save. Between the actions and the engines."""
