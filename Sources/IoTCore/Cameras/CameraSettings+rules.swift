extension CameraSettings {
    /// One key with a wrong value, and the reason.
    package struct Problem: Sendable {
        package let key: CameraKey
        package let reason: String

        package init(key: CameraKey, reason: String) {
            self.key = key
            self.reason = reason
        }
    }

    /// Values that are not allowed.
    package var refusedValues: [Problem] {
        CameraKey.all.filter { !$0.isAllowed(self) }.map { Problem(key: $0, reason: $0.requirement) }
    }

    /// Keys that do not fit each other or the source.
    ///
    /// - Parameter kind: the source's kind; `nil` if it is not known.
    package func conflicts(with kind: CameraSourceKind?) -> [Problem] {
        CameraKey.all.filter { $0.get(self) != nil }.compactMap { key in
            if let needed = key.needs, key.get(self) != key.defaultValue, let other = CameraKey.named(needed),
                other.get(self) == nil
            {
                return Problem(key: key, reason: "requires \(needed), too")
            }
            if let kind, let only = key.traits.onlyKind, kind != only {
                return Problem(key: key, reason: "is for \(only.form) only")
            }
            if kind != nil, key.name == "certificate", !hasEncryptedSource {
                return Problem(key: key, reason: "requires an rtsps:// source")
            }
            return nil
        }
    }

    /// Whether no value is given.
    package var isEmpty: Bool { CameraKey.all.allSatisfy { $0.get(self) == nil } }

    /// Copies the values that `change` gives.
    package mutating func apply(_ change: CameraSettings) {
        for key in CameraKey.all { key.take(change, &self) }
    }

    /// The part of a camera's settings that responses include.
    package var shown: CameraSettings {
        var shown = CameraSettings()
        let kind = sourceKind
        for key in CameraKey.all where key.traits.contains(.shown) && (key.traits.onlyKind ?? kind) == kind {
            if let value = key.get(self) ?? key.defaultValue { _ = key.set(value, &shown) }
        }
        return shown
    }
}
