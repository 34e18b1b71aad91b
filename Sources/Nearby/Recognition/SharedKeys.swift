public import Beacons
import Crypto
import Foundation
import Handshake

extension RollingKeys {
    /// Day keys to share with a friend. The holder recognises the user on these days only.
    public struct Shared: Sendable, Codable {
        /// The person whose beacons they recognise.
        public let person: UserNumber
        /// 32 bytes in hexadecimal digits, keyed by days since 1970. Secret.
        let keys: [String: String]
        /// The public key that signs, in hexadecimal digits; nil in what an older version wrote.
        let identity: String?
        /// In hexadecimal digits; nil in a vault, where it has been verified.
        var signature: String?
        /// The name that the person gave when pairing; nil for keys from a file.
        var name: String?

        init(person: UserNumber, keys: [DayKey], identity: String?, name: String? = nil) {
            self.person = person
            self.name = name
            self.keys = Dictionary(
                keys.map { (String($0.day.number), Beacons.Hexadecimal.encode($0.reveal())) }, uniquingKeysWith: { $1 })
            self.identity = identity
        }

        /// How many days they cover.
        public var count: Int { keys.count }

        /// A short form of the identity that signs the keys; nil where nothing signs them.
        ///
        /// It has eight groups of four hexadecimal digits. A file does not show who made it. Two people who compare this by voice, or in person, know that the file is the other one's.
        public var fingerprint: String? {
            guard let identity, let point = Beacons.Hexadecimal.decode(identity.utf8) else { return nil }
            let digest = SHA256.hash(data: Array("SH2 fingerprint\0".utf8) + point)
            let digits = Array(Beacons.Hexadecimal.encode(digest.prefix(16)))
            return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<$0 + 4]) }.joined(separator: " ")
        }

        /// The keys.
        ///
        /// - Throws: ``NearbyError/sharedKeys(_:)`` when they are invalid.
        public func dayKeys() throws(NearbyError) -> [DayKey] {
            guard keys.count <= RollingKeys.maximumDays else {
                throw .sharedKeys(
                    "they cover \(keys.count) days, more than the maximum of \(RollingKeys.maximumDays)")
            }
            guard !keys.isEmpty else { throw .sharedKeys("there are none") }
            let read = try everyKey()
            guard Set(read.map(\.day)).count == read.count, Set(read.map { $0.reveal() }).count == read.count else {
                throw .sharedKeys("a day or a key is there twice")
            }
            return read
        }

        /// The identity that signed the keys.
        ///
        /// - Throws: ``NearbyError/sharedKeys(_:)`` without a valid signature.
        func verifiedIdentity(of keys: [DayKey], in community: String) throws(NearbyError) -> String {
            guard let identity, let signature, let point = Beacons.Hexadecimal.decode(identity.utf8),
                let code = Beacons.Hexadecimal.decode(signature.utf8),
                let key = try? Curve25519.Signing.PublicKey(rawRepresentation: point)
            else { throw .sharedKeys("they are not signed") }
            guard key.isValidSignature(code, for: Self.signedBytes(person, keys, in: community)) else {
                throw .sharedKeys("they were changed after they were signed")
            }
            return Beacons.Hexadecimal.encode(point)
        }

        /// What is signed: a label, the community, the person, and each day with its key.
        static func signedBytes(
            _ person: UserNumber, _ keys: [DayKey], in community: String
        ) -> [UInt8] {
            func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
            var signed = Array("SH1 keys\0".utf8) + bytes(UInt32(community.utf8.count)) + Array(community.utf8)
            signed += bytes(UInt32(person.value)) + bytes(UInt32(keys.count))
            for key in keys.sorted(by: { $0.day < $1.day }) { signed += bytes(key.day.number) + key.reveal() }
            return signed
        }

        /// The keys, without the bound on their count.
        func everyKey() throws(NearbyError) -> [DayKey] {
            var read: [DayKey] = []
            for (day, digits) in keys {
                guard let number = UInt32(day), let bytes = Beacons.Hexadecimal.decode(digits.utf8),
                    let key = try? DayKey(day: RollingDay(number: number), revealed: bytes)
                else {
                    throw .sharedKeys(
                        "the key of day \(day.prefix(20).debugDescription) is not 32 bytes in hexadecimal digits")
                }
                read.append(key)
            }
            return read.sorted { $0.day < $1.day }
        }
    }
}

extension RollingKeys.Shared: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secret keys of \(count) days of person \(person))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["person": person, "count": count]) }
}
