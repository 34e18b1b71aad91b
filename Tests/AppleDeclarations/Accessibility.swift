// What the SwiftUI view uses of Apple's Accessibility, declared as Apple declares it and without any behaviour.
public import Foundation

public enum AccessibilityNotification {
    public struct Announcement: Sendable {
        public init(_ announcement: AttributedString) {}
        public func post() {}
    }
}
