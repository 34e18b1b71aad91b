#if canImport(UserNotifications) && !os(tvOS)
public import Beacons
import Foundation
import UserNotifications

/// Shows alerts as notifications of iOS, iPadOS, macOS and visionOS.
///
/// There is one notification for each person: a later alert about the same person replaces it, without a sound if the user was
/// told already. Ask for permission once, with ``requestPermission()``, after saying what for; without it nothing appears. While
/// the app itself is open, the system shows them only after ``showWhileOpen()``.
///
/// Notifications have no photos: the system would store one as a file that nothing here can encrypt or expire. Names stay in the
/// notification centre until the user removes them, or until the person is forgotten: give these alerts to ``StoredPeople`` and
/// ``CircleEnvironment``.
public struct UserNotificationAlerts: Alerts {
    /// The `userInfo` key of the URL of a person's page, `https` or on loopback.
    public static let pageKey = "page"

    /// Creates the alerts of this app.
    public init() {}

    /// Asks the user for permission to show alerts.
    ///
    /// The system asks once and remembers the answer.
    ///
    /// - Returns: whether alerts are shown.
    /// - Throws: what the system throws.
    @discardableResult
    public func requestPermission() async throws -> Bool {
        try await UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .sound])
    }

    /// Shows alerts also while the app is open.
    ///
    /// The system leaves them out then, unless it is told otherwise. Call this before the app finishes launching, as in the `init` of
    /// its `App`. It sets the delegate of the notification centre, of which there is one: an app with a delegate of its own answers
    /// `userNotificationCenter(_:willPresent:withCompletionHandler:)` there instead.
    public static func showWhileOpen() { UNUserNotificationCenter.current().delegate = presenter }

    /// The centre does not hold its delegate.
    private static let presenter = Presenter()

    /// Says that a notification appears although the app is open.
    private final class Presenter: NSObject, UNUserNotificationCenterDelegate, Sendable {
        func userNotificationCenter(
            _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
            withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
        ) {
            completionHandler([.banner, .list, .sound])
        }
    }

    public func show(_ alert: Alert) async { await show(AlertNotice(alert)) }

    public func show(_ crowd: CrowdAlert) async { await show(AlertNotice(crowd)) }

    public func withdraw(_ people: Set<UserNumber>) async {
        UNUserNotificationCenter.current()
            .removeDeliveredNotifications(withIdentifiers: people.map(AlertNotice.identifier(of:)))
    }

    public func withdrawAll() async {
        UNUserNotificationCenter.current().removeAllDeliveredNotifications()
    }

    private func show(_ notice: AlertNotice) async {
        let content = UNMutableNotificationContent()
        content.title = notice.title
        content.body = notice.body
        content.threadIdentifier = "nearby"
        content.sound = notice.isSilent ? nil : .default
        if let page = notice.page { content.userInfo = [Self.pageKey: page] }
        // Without a trigger it is delivered now; while the app is open, its delegate decides whether it appears. Without permission
        // it does not appear, and the encounter goes on.
        try? await UNUserNotificationCenter.current()
            .add(UNNotificationRequest(identifier: notice.identifier, content: content, trigger: nil))
    }
}
#endif
