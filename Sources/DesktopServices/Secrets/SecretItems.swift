#if Desktop
import DBus

extension SecretService {
    static let collectionInterface: InterfaceName = "org.freedesktop.Secret.Collection"
    static let itemInterface: InterfaceName = "org.freedesktop.Secret.Item"

    /// Looks up the secret with these attributes; of several, the first one that the service lists.
    ///
    /// - Throws: ``DesktopServicesError`` or `CancellationError`.
    package func lookup(_ attributes: [String: String]) async throws -> Lookup {
        try await DesktopServicesError.placing(absent: .noSecretService) {
            let (found, locked) = try await search(attributes)
            var unlocked = found
            if unlocked.isEmpty, let item = locked.first {
                guard try await unlock([item]) else { return .locked }
                unlocked = [item]
            }
            guard let item = unlocked.first else {
                return try await defaultCollection() == nil ? .noCollection : .absent
            }
            guard let secret = try await secrets(of: [item]).first else { return .absent }
            return .found(secret)
        }
    }

    /// Stores a secret in the default collection; replaces one with the same attributes.
    ///
    /// - Parameters:
    ///   - secret: The secret.
    ///   - label: The name in programs that list secrets.
    ///   - attributes: The attributes for look-ups. They are not secret, and may be stored unencrypted.
    /// - Throws: ``DesktopServicesError`` or `CancellationError`.
    package func store(
        _ secret: SecretValue, label: String, attributes: [String: String]
    ) async throws -> Change {
        try await DesktopServicesError.placing(absent: .noSecretService) {
            guard let collection = try await defaultCollection() else { return .noCollection }
            let object = service.connection.object(collection, of: service.destination)
            if try await object.property("Locked", of: Self.collectionInterface, as: Bool.self) {
                guard try await unlock([collection]) else { return .locked }
            }
            let properties: [String: Value] = [
                "org.freedesktop.Secret.Item.Label": .string(label),
                "org.freedesktop.Secret.Item.Attributes": attributes.value,
            ]
            let (_, prompt) = try await object.call(
                "CreateItem", in: Self.collectionInterface, [properties.value, try sealed(secret), true]
            ).read(ObjectPath.self, ObjectPath.self)
            return try await answer(prompt) ? .done : .locked
        }
    }

    /// Deletes every secret with these attributes.
    ///
    /// - Returns: ``Change/locked`` when at least one could not be deleted.
    /// - Throws: ``DesktopServicesError`` or `CancellationError`.
    package func delete(_ attributes: [String: String]) async throws -> Change {
        try await DesktopServicesError.placing(absent: .noSecretService) {
            let (unlocked, locked) = try await search(attributes)
            var areAllDeleted = true
            for item in unlocked + locked {
                if locked.contains(item), try await !unlock([item]) {
                    areAllDeleted = false
                    continue
                }
                let prompt = try await service.connection.object(item, of: service.destination)
                    .call("Delete", in: Self.itemInterface).read(ObjectPath.self)
                if try await !answer(prompt) { areAllDeleted = false }
            }
            guard areAllDeleted else { return .locked }
            if unlocked.isEmpty && locked.isEmpty {
                return try await defaultCollection() == nil ? .noCollection : .absent
            }
            return .done
        }
    }

    private func search(
        _ attributes: [String: String]
    ) async throws -> (unlocked: [ObjectPath], locked: [ObjectPath]) {
        try await service.call("SearchItems", in: Self.interface, [attributes.value])
            .read([ObjectPath].self, [ObjectPath].self)
    }

    private func defaultCollection() async throws -> ObjectPath? {
        let path = try await service.call("ReadAlias", in: Self.interface, ["default"]).read(ObjectPath.self)
        return path == Self.none ? nil : path
    }

    /// Unlocks collections or items; prompts the user where that is allowed.
    private func unlock(_ objects: [ObjectPath]) async throws -> Bool {
        // An unlock request makes the service prepare a prompt: do not request one that will not be shown.
        guard prompting != .never else { return false }
        let (unlocked, prompt) = try await service.call("Unlock", in: Self.interface, [objects.value])
            .read([ObjectPath].self, ObjectPath.self)
        if Set(objects).isSubset(of: unlocked) { return true }
        return try await answer(prompt)
    }
}

// MARK: Prompts

extension SecretService {
    private static let promptInterface: InterfaceName = "org.freedesktop.Secret.Prompt"

    /// Shows a prompt and waits for the user; the path `/` means no prompt. Returns whether the operation was carried out.
    private func answer(_ prompt: ObjectPath) async throws -> Bool {
        if prompt == Self.none { return true }
        let object = service.connection.object(prompt, of: service.destination)
        guard case .upTo(let timeout) = prompting else {
            try await dismiss(object)
            return false
        }
        let signals = try await object.signals("Completed", of: Self.promptInterface)
        // The window identifier is empty, because this program has no window.
        try await object.call("Prompt", in: Self.promptInterface, [""])
        let clock = service.connection.clock
        let isDone = try await withThrowingTaskGroup(of: Bool?.self) { group in
            group.addTask {
                for try await signal in signals {
                    return try !signal.arguments.read(Bool.self)
                }
                return false
            }
            group.addTask {
                try await clock.sleep(for: min(timeout, .seconds(86_400)))
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
        if let isDone { return isDone }
        try await dismiss(object)
        return false
    }

    /// Dismisses a prompt; ignores that it is gone.
    private func dismiss(_ prompt: RemoteObject) async throws {
        do {
            try await prompt.call("Dismiss", in: Self.promptInterface)
        } catch DBusError.remote {}
    }
}
#endif
