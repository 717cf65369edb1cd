"""Pages: templates, styles and small ES modules that call the HTTP API like any client. They hold no data of their own."""
