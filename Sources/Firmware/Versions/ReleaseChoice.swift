/// Chooses among the releases that a hub has.
public enum ReleaseChoice {
    /// The newest release for a device; `nil` if it has the newest.
    ///
    /// A downgrade withdraws the versions that it is for: they are no longer offered. Otherwise a device would change
    /// from one to the other again and again. A device that has one of them is offered the downgrade.
    public static func newest<Release>(
        _ releases: [Release], for target: FirmwareTarget, manifest: (Release) -> ReleaseManifest
    ) -> Release? {
        let ofModel = releases.filter { manifest($0).model == target.model }
        let withdrawn = ofModel.map(manifest).filter(\.isDowngrade).flatMap(\.from)
        return ofModel.filter { release in
            let release = manifest(release)
            return !withdrawn.contains { $0.matches(release.version) } && (try? release.check(for: target)) != nil
        }
        .max { manifest($0).version < manifest($1).version }
    }
}
