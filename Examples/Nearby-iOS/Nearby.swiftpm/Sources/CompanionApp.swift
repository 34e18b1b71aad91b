import Nearby
import SwiftUI

/// Who of your circle is here: a companion for the iPhone, with these libraries.
@main
struct CompanionApp: App {
    @State private var companion: Companion
    @Environment(\.scenePhase) private var phase

    /// Starts at every launch: when a beacon or an identifier wakes the app in the background, there may be no scene.
    init() {
        let companion = Companion()
        _companion = State(wrappedValue: companion)
        companion.start(inBackground: true)
        // Before the launch is finished, or the first alerts are not shown.
        UserNotificationAlerts.showWhileOpen()
        HubWatch.shared.start()
    }

    var body: some Scene {
        WindowGroup {
            PeopleScreen(companion: companion)
                // In the background a scan needs a list of what it expects: the watch begins again.
                .onChange(of: phase == .background, initial: true) { _, isInBackground in
                    companion.start(inBackground: isInBackground)
                }
        }
    }
}
