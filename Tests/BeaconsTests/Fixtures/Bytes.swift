import Beacons
import Testing

/// Bytes of digits as the dossier prints them, with spaces anywhere.
func bytes(_ digits: String) -> [UInt8] {
    let digits = Array(digits.filter { !$0.isWhitespace })
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
}

/// The digits of bytes, without spaces.
func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Seconds since the start of 1970.
func at(_ seconds: Double) throws -> Timestamp {
    try #require(Timestamp(secondsSince1970: seconds))
}

/// Random numbers that are the same each time (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var number = state
        number = (number ^ number >> 30) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ number >> 27) &* 0x94d0_49bb_1331_11eb
        return number ^ number >> 31
    }
}

/// SecretHandshake's beacon of dossier 2.2: major 1, user 759, -59 dBm.
let worked = IBeacon(uuid: .secretHandshake, major: 1, minor: 759, power: -59)

/// A packet with an iBeacon of SecretHandshake's.
func packet(_ minor: UInt16, rssi: Int = -61, at seconds: Double, power: Int8 = -59) throws -> Advertisement {
    let beacon = IBeacon(uuid: .secretHandshake, major: 1, minor: minor, power: power)
    return Advertisement(
        time: try at(seconds), address: nil, rssi: RSSI(rssi), data: try AdvertisingData([beacon.structure]))
}
