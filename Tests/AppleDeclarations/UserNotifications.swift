// What alerts use of Apple's UserNotifications, declared as Apple declares it and without any behaviour.
public import Foundation

public struct UNAuthorizationOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let badge = UNAuthorizationOptions(rawValue: 1), sound = UNAuthorizationOptions(rawValue: 2)
    public static let alert = UNAuthorizationOptions(rawValue: 4)
}

open class UNNotificationSound: NSObject {
    open class var `default`: UNNotificationSound { UNNotificationSound() }
}

open class UNNotificationTrigger: NSObject {}

open class UNNotificationContent: NSObject {}

open class UNMutableNotificationContent: UNNotificationContent {
    public override init() {}
    open var title = ""
    open var body = ""
    open var threadIdentifier = ""
    open var sound: UNNotificationSound?
    open var userInfo: [AnyHashable: Any] = [:]
}

open class UNNotificationRequest: NSObject {
    public convenience init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.init()
    }
}

open class UNUserNotificationCenter: NSObject {
    open class func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }
    nonisolated(nonsending) open func requestAuthorization(
        options: UNAuthorizationOptions = []
    ) async throws -> Bool { false }
    nonisolated(nonsending) open func add(_ request: UNNotificationRequest) async throws {}
    open func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {}
    open func removeAllDeliveredNotifications() {}
}
