import Beacons

/// The dossier's own examples (2.2, 3, 4).
enum Packets {
    /// SecretHandshake's iBeacon of user 759, 27 bytes (2.2).
    static let iBeacon = bytes("1aff4c0002153ee761a0f73711e3a3ac0800200c9a66000102f7c5")
    /// The same as an AltBeacon of the test company (3).
    static let altBeacon = bytes("1bffffffbeac3ee761a0f73711e3a3ac0800200c9a66000102f7c500")
    /// An Eddystone URL frame with flags and service (4).
    static let eddystone = bytes("0201060303aafe1316aafe10ee0172656375727365" + "00752f373539")
    /// Another message of Apple's.
    static let findMy = bytes("07ff4c0012020001")

    static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    static func advertisement(
        _ bytes: [UInt8], _ address: String? = "D0:00:00:00:02:F7", kind: DeviceAddress.Kind? = nil, rssi: Int? = -61,
        at time: Timestamp = Air.now
    ) throws -> Advertisement {
        Advertisement(
            time: time, address: address.flatMap { DeviceAddress($0) }, addressKind: kind,
            rssi: rssi.flatMap { RSSI($0) }, data: try AdvertisingData(received: bytes))
    }

    /// As the simulator tells it, whose devices have random addresses.
    static func heard(
        _ bytes: [UInt8], _ address: String = "D0:00:00:00:02:F7", rssi: Int? = -61
    ) throws -> Advertisement {
        try advertisement(bytes, address, kind: .random, rssi: rssi)
    }
}
