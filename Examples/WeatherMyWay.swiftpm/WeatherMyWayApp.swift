import SwiftUI

/// Weather advice by your genes, on iPhone and iPad (dossier 5.8).
@main
struct WeatherMyWayApp: App {
    @State private var model = WeatherModel(.apple)

    var body: some Scene {
        WindowGroup {
            WeatherView(model: model).task { await model.open() }
        }
    }
}
