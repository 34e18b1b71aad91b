import Beacons
import Circles
import Handshake

/// The photos of a circle's members: packs, each with the tag of the server.
extension CircleRecords {
    /// A pack with the tag of the server; the record has two bytes of length, the tag, the pack.
    func pack(_ index: UInt8) async throws -> (tag: String, pack: PhotoPack)? {
        guard let bytes = try await vault.record(key("photos", "\(index)")), bytes.count >= 2 else { return nil }
        let length = Int(bytes[0]) << 8 | Int(bytes[1])
        guard bytes.count >= 2 + length, let pack = try? PhotoPack(Array(bytes.dropFirst(2 + length))) else {
            return nil
        }
        return (String(decoding: bytes[2..<(2 + length)], as: UTF8.self), pack)
    }

    func replacePack(_ index: UInt8, tag: String, _ pack: PhotoPack) async throws {
        let tag = Array(tag.utf8.prefix(200))
        let bytes = [UInt8(tag.count >> 8), UInt8(truncatingIfNeeded: tag.count)] + tag + pack.bytes
        try await vault.replace(key("photos", "\(index)"), with: bytes)
    }

    /// Removes photos from a pack.
    ///
    /// A pack that has lost one is fetched whole the next time: the person may be shown again, with the same photo. One that cannot
    /// be read may have the photo, so it goes; the server has it.
    ///
    /// - Returns: the tag of the server, nil where there is no pack, or it has lost a photo; and whose photos are there.
    @discardableResult
    func pack(
        _ index: UInt8, without isUnwanted: (UInt32, [UInt8]) -> Bool
    ) async throws -> (tag: String?, numbers: Set<UInt32>) {
        let stored: (tag: String, pack: PhotoPack)?
        do {
            stored = try await self.pack(index)
        } catch VaultError.damaged {
            // It cannot be replaced before it is removed.
            try await vault.remove(key("photos", "\(index)"))
            return (nil, [])
        }
        guard let (tag, pack) = stored else { return (nil, []) }
        let kept = pack.photos.filter { !isUnwanted($0.key, $0.value) }
        guard kept.count < pack.photos.count else { return (tag.isEmpty ? nil : tag, Set(kept.keys)) }
        try await replacePack(index, tag: "", PhotoPack(kept))
        return (nil, Set(kept.keys))
    }

    /// Removes the packs that have other numbers.
    func removePacks(except indexes: some Collection<UInt8>) async throws {
        for key in try await vault.keys(of: .circle).keys {
            let parts = key.components
            guard parts.count == 4, parts.starts(with: [community, scope, "photos"]), let index = UInt8(parts[3]),
                !indexes.contains(index)
            else { continue }
            _ = try await vault.remove(key)
        }
    }

    func photo(of person: UserNumber) async throws -> [UInt8]? {
        guard let number = UInt32(exactly: person.value) else { return nil }
        return try await pack(PhotoPack.index(of: number))?.pack.photos[number]
    }
}
