extension ErrorCatalogue {
    /// File downloads (21060–21084): the SDK's public headers.
    static let downloads: [Entry] = [
        Entry(
            .downloadBusy, "downloadBusy", "another download runs", remedy: "wait for it"),
        Entry(
            .downloadUnavailable, "downloadUnavailable", "the file is not available any more",
            remedy: "list the recordings, and start again"),
        Entry(
            .downloadOffsetInvalid, "downloadOffsetInvalid", "the offset lies outside the file",
            remedy: "start at 0"),
        Entry(
            .downloadOpenFailed, "downloadOpenFailed", "the file cannot be opened",
            remedy: "check the device's disk"),
        Entry(
            .downloadNotFound, "downloadNotFound", "there is no such file", remedy: "list the recordings first"),
        Entry(
            .downloadEnded, "downloadEnded", "the download ended early", remedy: "resume at the last offset"),
        Entry(
            .downloadSizeInvalid, "downloadSizeInvalid", "the file's size is wrong", remedy: "start again"),
        Entry(
            .downloadUnknown, "downloadUnknown", "the download failed", remedy: "start again",
            whyUnused: "each way in which a download fails has a number of its own"),
        Entry(
            .downloadNoResponse, "downloadNoResponse", "the device does not answer the download",
            remedy: "check that it is online",
            whyUnused: "a device that does not answer is 20001 or 21002, as for every request"),
        Entry(
            .acknowledgeUnsupported, "acknowledgeUnsupported", "the device does not support this",
            remedy: "update the device",
            whyUnused: "a camera that is not recorded refuses the channel with 21040"),
        Entry(
            .acknowledgeParameter, "acknowledgeParameter", "the device refused a parameter",
            remedy: "correct the parameter",
            whyUnused: "a wrong parameter of a download is 25001"),
        Entry(
            .acknowledgeUnknown, "acknowledgeUnknown", "the device answered with an unknown error",
            remedy: "read its log",
            whyUnused: "the number with which a device refuses a download is passed on"),
        Entry(
            .acknowledgeNoResponse, "acknowledgeNoResponse", "the device does not answer",
            remedy: "check that it is online",
            whyUnused: "a device that does not answer is 20001 or 21002, as for every request"),
        Entry(
            .acknowledgeBusy, "acknowledgeBusy", "the device is busy", remedy: "wait and try again",
            whyUnused: "a busy device refuses with 20100, and a second request of a download is 21060"),
    ]
}
