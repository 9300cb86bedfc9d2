"""Parts that every page uses: authentication, forms, lists, cookies, uploads."""
