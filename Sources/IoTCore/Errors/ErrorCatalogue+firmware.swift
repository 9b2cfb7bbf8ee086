extension ErrorCatalogue {
    /// Releases of firmware (25140–25159).
    static let firmware: [Entry] = [
        Entry(
            .releaseManifestInvalid, "releaseManifestInvalid", "the release's manifest is malformed",
            remedy: "sign the file again with `iotctl firmware sign`"),
        Entry(
            .releaseSignatureInvalid, "releaseSignatureInvalid", "no trusted key has signed the release's manifest",
            remedy: "sign it with the release key whose public half is trusted here; if it was signed so, somebody "
                + "changed it: do not use it"),
        Entry(
            .releaseFileDiffers, "releaseFileDiffers", "the file is not the one that the release's manifest describes",
            remedy: "get the file again; if it still differs, somebody changed it: do not use it"),
        Entry(
            .releaseModelDiffers, "releaseModelDiffers", "the release is for another model",
            remedy: "choose a release for the device's model: `iotctl firmware release list`"),
        Entry(
            .releaseVersionRefused, "releaseVersionRefused", "the release is not for a device with this version",
            remedy: "choose a newer version, or sign the older one as a downgrade: `iotctl firmware sign --downgrade`"),
        Entry(
            .releaseIncomplete, "releaseIncomplete", "the release's file is not complete at the hub",
            remedy: "continue the upload with `iotctl firmware release add`"),
        Entry(
            .releaseSpaceUsed, "releaseSpaceUsed", "the hub has no space for the release",
            remedy: "remove old releases with `iotctl firmware release remove`"),
        Entry(
            .boxSpaceUsed, "boxSpaceUsed", "the box has no space for the release",
            remedy: "free some space on the disk of firmware.directory"),
        Entry(
            .releaseUnreachable, "releaseUnreachable", "the release's file cannot be downloaded",
            remedy: "check firmware.url and the network; the next upgrade continues the download"),
        Entry(
            .releaseRefused, "releaseRefused", "the hub does not give the release's file to this box",
            remedy: "check the token in firmware.tokenFile, and that the hub still has the release"),
        Entry(
            .upgradeRolledBack, "upgradeRolledBack", "the new version did not start, and the old one runs again",
            remedy: "read the log of the program that installs releases; do not offer this release any longer"),
    ]
}
