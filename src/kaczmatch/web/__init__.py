"""Web pages: templates, styles and small ES modules that call the HTTP API as any client does. They hold no data of their own."""
