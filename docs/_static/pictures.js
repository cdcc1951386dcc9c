// A figure opens at its full size, and one that is wide scrolls on a phone.
for (const picture of document.querySelectorAll("img.drawn, figure img")) {
  if (picture.closest("a")) continue;
  const link = document.createElement("a");
  link.href = picture.src;
  link.className = "whole";
  link.title = "open the whole figure";
  picture.replaceWith(link);
  link.append(picture);
}
