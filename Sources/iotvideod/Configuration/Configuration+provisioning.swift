/// Conflicts between the keys of the provisioning mode.
extension Configuration {
    func provisioningConflicts() -> [Conflict] {
        let keys = provisioning
        guard keys.isOn else {
            return dependents.filter(\.isSet).map { Conflict(key: $0.key, reason: "needs provisioning.ways") }
        }
        var conflicts: [Conflict] = []
        if hub.enabled == true {
            conflicts.append(
                Conflict(
                    key: "provisioning.ways",
                    reason: "cannot be combined with hub.enabled: the mode registers the box with another hub"))
        }
        if link.accessId != nil {
            conflicts.append(
                Conflict(
                    key: "provisioning.ways",
                    reason: "cannot be combined with link.accessId: both set the box's hub"))
        }
        if keys.listens, keys.listen == nil, keys.interface == nil {
            conflicts.append(
                Conflict(key: "provisioning.ways", reason: "needs provisioning.interface or provisioning.listen"))
        }
        if keys.isServed, (keys.possessionFile == nil) == (keys.user == nil) {
            conflicts.append(
                Conflict(
                    key: "provisioning.ways",
                    reason: "needs a secret: provisioning.possessionFile, or provisioning.user with its password"))
        }
        if (keys.user == nil) != (keys.passwordFile == nil) {
            conflicts.append(
                Conflict(
                    key: keys.user == nil ? "provisioning.passwordFile" : "provisioning.user",
                    reason: "provisioning.user and provisioning.passwordFile require each other"))
        }
        if keys.applier == .wpaSupplicant, keys.interface == nil {
            conflicts.append(Conflict(key: "provisioning.applier", reason: "needs provisioning.interface"))
        }
        if keys.dryRunFile != nil, keys.applier != .dryRun {
            conflicts.append(Conflict(key: "provisioning.dryRunFile", reason: "needs provisioning.applier: dryRun"))
        }
        return conflicts
    }

    private var dependents: [(key: String, isSet: Bool)] {
        [
            ("provisioning.listen", provisioning.listen != nil),
            ("provisioning.interface", provisioning.interface != nil),
            ("provisioning.possessionFile", provisioning.possessionFile != nil),
            ("provisioning.user", provisioning.user != nil),
            ("provisioning.passwordFile", provisioning.passwordFile != nil),
            ("provisioning.dryRunFile", provisioning.dryRunFile != nil),
        ]
    }
}
