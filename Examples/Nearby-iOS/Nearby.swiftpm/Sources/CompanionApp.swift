import SwiftUI

/// Who of your circle is here: a companion for the iPhone, with these libraries.
@main
struct CompanionApp: App {
    @State private var companion = Companion()
    @Environment(\.scenePhase) private var phase

    var body: some Scene {
        WindowGroup {
            PeopleScreen(companion: companion)
                // In the background a scan needs a list of what it expects: the watch begins again.
                .task(id: phase == .background) { await companion.run(inBackground: phase == .background) }
                .task { await HubWatch.shared.run() }
        }
    }
}
