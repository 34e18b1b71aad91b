#if CommandLine
import ArgumentParser
import Beacons
import Foundation
import Handshake
import Nearby
import OAuth

/// Where alerts appear.
enum AlertPlace: String, ExpressibleByArgument, CaseIterable {
    /// As notifications of the desktop; without a desktop, in the terminal.
    case desktop
    case terminal
    case none

    /// - Parameters:
    ///   - terminal: shows alerts in the terminal.
    ///   - notices: remembers what stands on the desktop.
    ///   - photo: a person's photo as an image file, for the desktop.
    func open(
        terminal: any Alerts, notices: ShownNotices,
        photo: @escaping NearbySession.Photo = { _, _ in nil }
    ) -> any Alerts {
        switch self {
        case .none: return NoAlerts()
        case .terminal: return terminal
        case .desktop:
            #if Desktop && os(Linux)
            let environment = ProcessInfo.processInfo.environment
            // Programs read the alert in the JSON output.
            let fallback: any Alerts = Output.isJSON ? NoAlerts() : terminal
            let desktop = DesktopAlerts(
                environment: environment, application: "Handshake", fallback: fallback, notices: notices, photo: photo
            ) {
                // Watching goes on when a page cannot be opened.
                guard let address = try? EndpointURL($0, security: .allowingInsecureLoopback) else { return }
                try? SystemBrowser(environment: environment).open(address)
            }
            return BothAlerts(first: desktop, second: Output.isJSON ? terminal : nil)
            #else
            return terminal
            #endif
        }
    }

    /// What closes the notifications that stand on the desktop.
    static func standing(_ notices: ShownNotices) -> any Alerts {
        #if Desktop && os(Linux)
        return DesktopAlerts(
            environment: ProcessInfo.processInfo.environment, application: "Handshake", fallback: NoAlerts(),
            notices: notices)
        #else
        return NoAlerts()
        #endif
    }
}

struct TerminalAlerts: Alerts {
    let reporter: NearbyReporter

    func show(_ alert: Alert) async { reporter.show(alert) }
    func show(_ crowd: CrowdAlert) async { reporter.show(crowd) }
}

struct NoAlerts: Alerts {
    func show(_ alert: Alert) async {}
    func show(_ crowd: CrowdAlert) async {}
}

struct BothAlerts: Alerts {
    let first: any Alerts
    let second: (any Alerts)?

    func show(_ alert: Alert) async {
        await first.show(alert)
        await second?.show(alert)
    }

    func show(_ crowd: CrowdAlert) async {
        await first.show(crowd)
        await second?.show(crowd)
    }

    func withdraw(_ people: Set<UserNumber>) async {
        await first.withdraw(people)
        await second?.withdraw(people)
    }

    func withdrawAll() async {
        await first.withdrawAll()
        await second?.withdrawAll()
    }
}
#endif
