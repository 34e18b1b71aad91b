/// A quarter of an hour in which one rolling identifier is valid (dossier 8.4). Windows are counted from 1970.
public struct RollingWindow: Sendable, Hashable, Comparable {
    public let number: UInt32

    /// The length of a window.
    public static let length = Duration.seconds(900)
    /// The windows per day.
    static let aDay: UInt32 = 96

    public init(number: UInt32) {
        self.number = number
    }

    /// The window of a time.
    ///
    /// - Throws: ``BeaconsError/time(_:)`` before 1970.
    public init(at time: Timestamp) throws(BeaconsError) {
        guard let number = UInt32(exactly: time.wholeSeconds / 900), time.wholeSeconds >= 0 else { throw .time(time) }
        self.init(number: number)
    }

    /// The day of the window.
    public var day: RollingDay { RollingDay(number: number / Self.aDay) }

    /// The start of the window.
    public var start: Timestamp { Timestamp(clampingMicroseconds: Int64(number) * 900_000_000) }

    /// The next window; the same at the end of 32 bits.
    var next: RollingWindow { RollingWindow(number: number == .max ? number : number + 1) }

    /// The previous window; the same at the start of 1970.
    var previous: RollingWindow { RollingWindow(number: number == 0 ? 0 : number - 1) }

    /// How long before and after a window its identifier is accepted: the rotation may be a minute off, and clocks differ by two.
    static let tolerance = Duration.seconds(180)

    /// Whether the window's identifier is accepted at a time. A copy that is sent 25 minutes later never is.
    func isAccepted(at time: Timestamp) -> Bool {
        start.advanced(by: .zero - Self.tolerance) <= time && time <= next.start.advanced(by: Self.tolerance)
    }

    /// The window and its neighbours, whose identifiers can be accepted.
    var neighbourhood: [RollingWindow] {
        [number &- 1, number, number &+ 1].filter { $0.distance(to: number).magnitude <= 1 }.map(RollingWindow.init)
    }

    public static func < (left: RollingWindow, right: RollingWindow) -> Bool { left.number < right.number }
}
