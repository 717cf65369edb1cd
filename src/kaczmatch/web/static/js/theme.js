// Light, dark, or as the system has it. Runs before the page is painted, so it is no module.
"use strict";
{
  const KEY = "kaczmatch.theme";
  const CHOICES = [
    { theme: "", label: "Colours: as the system", icon: "system" },
    { theme: "light", label: "Colours: light", icon: "light" },
    { theme: "dark", label: "Colours: dark", icon: "dark" },
  ];
  const kept = () => {
    try {
      return localStorage.getItem(KEY) ?? "";
    } catch {
      return ""; // a browser that keeps nothing
    }
  };
  const keep = (theme) => {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // it holds until the page is left
    }
  };
  let place = Math.max(0, CHOICES.findIndex((one) => one.theme === kept()));
  const show = () => {
    const { theme, label, icon } = CHOICES[place];
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    const button = document.getElementById("theme");
    if (button) {
      button.querySelector("use").setAttribute("href", `#icon-${icon}`);
      button.setAttribute("aria-label", label);
      button.title = label;
    }
  };
  show();
  document.addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme").addEventListener("click", () => {
      place = (place + 1) % CHOICES.length;
      keep(CHOICES[place].theme);
      show();
    });
  });
}
