import ConnectButton
import SwiftUI

/// A shop with Connect Buttons: IFTTT's sample app, with these libraries.
///
/// It talks to IFTTT's sandbox on the Mac: start `swift run handshake sandbox --port 8080` there, and register the app's redirect
/// with `curl -d com.example.grocery:/connect http://127.0.0.1:8083/_sandbox/redirect-urls`.
@main
struct GroceryExpressApp: App {
    @State private var shop: Shop

    init() {
        let shop = Shop()
        _shop = State(wrappedValue: shop)
        // Here and not in a view: a launch that a region caused has none.
        Task { await shop.open() }
    }

    var body: some Scene {
        WindowGroup {
            FrontScreen(shop: shop)
                // Redirects of the IFTTT app and links in mails open the app.
                .connectCallbacks()
        }
    }
}
