public import Beacons

/// What is in the air of a busy room, one behind the other in one buffer: beacons of every kind, Apple's other messages, noise and
/// damage.
public struct AirTraffic: Sendable {
    public let bytes: [UInt8]
    /// Where each advertisement is.
    public let ranges: [Range<Int>]
    /// How many of them name a beacon.
    public let beacons: Int

    /// The service of the rolling identifiers in it.
    public static let parser = FrameParser(rollingService: ServiceUUID(rawValue: 0xFDF0))

    /// - Parameter count: how many advertisements; a multiple of 16.
    public init(_ count: Int) throws {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for number in 0..<count {
            let start = bytes.count
            bytes += try Self.advertisement(number)
            ranges.append(start..<bytes.count)
        }
        self.bytes = bytes
        self.ranges = ranges
        beacons = count / 16 * 8
    }

    /// Reads every advertisement once.
    ///
    /// - Returns: how many name a beacon.
    @inline(never)
    public func classify() -> Int {
        bytes.withUnsafeBufferPointer { buffer in
            var beacons = 0
            for range in ranges {
                let frame = Self.parser.frame(in: Span(_unsafeElements: UnsafeBufferPointer(rebasing: buffer[range])))
                if frame.identity != nil { beacons += 1 }
            }
            return beacons
        }
    }

    private static func advertisement(_ number: Int) throws -> [UInt8] {
        let minor = UInt16(truncatingIfNeeded: number)
        let token = RollingToken(high: 0xb3fe_9844_9dfa_b470 &+ UInt64(number), low: 0x2e08_68eb_355c_32c9)
        switch number % 16 {
        case 0, 1, 2:
            let beacon = IBeacon(uuid: .secretHandshake, major: 1, minor: minor)
            return try AdvertisingData([.flags(0x1A), beacon.structure]).bytes
        case 3:
            let beacon = AltBeacon(company: .test, identifiedBy: (.secretHandshake, 1, minor))
            return try AdvertisingData([.flags(), beacon.structure]).bytes
        case 4:
            let uid = EddystoneUID(namespace: .init(shortening: .secretHandshake), truncatingInstance: UInt64(number))
            return try AdvertisingData([.flags()] + uid.structures(power: -18)).bytes
        case 5:
            return try AdvertisingData([.flags()] + EddystoneURL("https://www.recurse.com/").structures(power: -18))
                .bytes
        case 6, 7, 8: return try AdvertisingData([.flags(), token.structure(for: ServiceUUID(rawValue: 0xFDF0))]).bytes
        case 9:
            let value = token.bytes + [0x73, 0xBF, 0x7A, 0x32]
            return try AdvertisingData(
                [.flags(0x1A), .service(.exposureNotification), .serviceData(.exposureNotification, value)]
            ).bytes
        case 10, 11, 12:
            return try AdvertisingData([.flags(0x1A), .manufacturerData(.apple, [0x10, 5, 1, 0x18, 0x44, 0x2A, 0x9C])])
                .bytes
        case 13:
            return try AdvertisingData([
                .manufacturerData(.apple, [0x12, 0x19] + token.bytes + [0, 0, 0, 0, 0, 0, 0, 0])
            ]).bytes
        case 14: return try AdvertisingData([.manufacturerData(CompanyID(rawValue: 0x0075), token.bytes)]).bytes
        default: return [2, 1, 6, 0x1A, 0xFF, 0x4C, 0, 2, 0x15, UInt8(truncatingIfNeeded: number)]
        }
    }
}
