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
    ]
}
