/// A quarter of an hour, counted from 1970: how long one rolling identifier holds (dossier 8.4).
public struct RollingWindow: Sendable, Hashable, Comparable {
    public let number: UInt32

    /// How long a window is.
    public static let length = Duration.seconds(900)
    /// How many windows a day has.
    static let aDay: UInt32 = 96

    public init(number: UInt32) {
        self.number = number
    }

    /// The window that a time is in.
    ///
    /// - Throws: ``BeaconsError/time(_:)`` before 1970.
    public init(at time: Timestamp) throws(BeaconsError) {
        guard let number = UInt32(exactly: time.wholeSeconds / 900), time.wholeSeconds >= 0 else { throw .time(time) }
        self.init(number: number)
    }

    /// The day that it is in.
    public var day: RollingDay { RollingDay(number: number / Self.aDay) }

    /// When it begins.
    public var start: Timestamp { Timestamp(clampingMicroseconds: Int64(number) * 900_000_000) }

    /// The window behind it; itself at the end of 32 bits.
    var next: RollingWindow { RollingWindow(number: number == .max ? number : number + 1) }

    /// It and its neighbours, which receivers accept because clocks differ.
    var neighbourhood: [RollingWindow] {
        [number &- 1, number, number &+ 1].filter { $0.distance(to: number).magnitude <= 1 }.map(RollingWindow.init)
    }

    public static func < (left: RollingWindow, right: RollingWindow) -> Bool { left.number < right.number }
}
